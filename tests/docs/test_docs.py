# SPDX-License-Identifier: MIT
"""The documents that lead a reader somewhere are followed, step by step."""
from pathlib import Path

import pytest
from follow import ROOT, follow

DOCUMENTS = ["README.md", "README.zh-CN.md", *(f"docs/{p.name}" for p in sorted(Path(ROOT / "docs").glob("write-*.md")))]


@pytest.mark.parametrize("document", DOCUMENTS)
def test_document_holds(document):
    assert follow(document, ROOT / "build/docs" / Path(document).stem) > 0
