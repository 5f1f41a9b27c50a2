#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What mpirun calls in place of ssh: [-x] HOST COMMAND... Runs the command on this machine under another
# host name, so that MPI takes it for another node.
[ "$1" != -x ] || shift
host=$1
shift
if [ "$(id -u)" = 0 ]; then
  exec unshare --uts sh -c 'hostname "$0"; exec sh -c "$1"' "$host" "$*"
fi
exec unshare --user --map-root-user --uts sh -c 'hostname "$0"; exec sh -c "$1"' "$host" "$*"
