# SPDX-License-Identifier: MIT
import pytest

from gpgpu import Gpgpu
from qtest import Machine


@pytest.fixture
def gpu():
    """A gpgpu on a machine with INTx only; dispatch and DMA are done when the store is (sync=auto under qtest)."""
    with Machine("gpgpu,id=gpu0") as machine:
        yield Gpgpu(machine)


@pytest.fixture
def async_gpu():
    """The same, working in the background as it does for a real guest."""
    with Machine("gpgpu,id=gpu0,sync=off") as machine:
        yield Gpgpu(machine)


@pytest.fixture
def msix_gpu():
    """A gpgpu on a machine with an IMSIC, that is, with MSI-X."""
    with Machine("gpgpu,id=gpu0", machine="virt,aia=aplic-imsic") as machine:
        yield Gpgpu(machine)
