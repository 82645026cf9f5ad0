// SPDX-License-Identifier: MIT
#include "core/errno.h"
#include "core/util.h"
#include <stddef.h>

#define NAME(error) {error, #error}

static const struct {
    int number;
    const char *name;
} names[] = {
    {0, "OK"},       NAME(EPERM),    NAME(ENOENT),  NAME(EINTR),   NAME(EIO),       NAME(ENXIO),
    NAME(E2BIG),     NAME(ENOEXEC),  NAME(EBADF),   NAME(EAGAIN),  NAME(ENOMEM),    NAME(EACCES),
    NAME(EFAULT),    NAME(EBUSY),    NAME(EEXIST),  NAME(EXDEV),   NAME(ENODEV),    NAME(EINVAL),
    NAME(ENFILE),    NAME(EMFILE),   NAME(EFBIG),   NAME(ENOSPC),  NAME(EROFS),     NAME(EPIPE),
    NAME(EDOM),      NAME(ERANGE),   NAME(EDEADLK), NAME(ENOSYS),  NAME(ENOTEMPTY), NAME(EPROTO),
    NAME(EOVERFLOW), NAME(EILSEQ),   NAME(ENOTSUP), NAME(EBADMSG), NAME(ENOBUFS),   NAME(ETIMEDOUT),
    NAME(ECANCELED), NAME(EALREADY), NAME(ENODATA), NAME(ETIME),
};

const char *error_name(int error)
{
    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        if (names[i].number == error || names[i].number == -error)
            return names[i].name;
    return "E?";
}
