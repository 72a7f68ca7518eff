/** 1 024 bytes; units of size are named, so that no size is written as a bare product. */
export const KiB = 1024;
/** 1 048 576 bytes. */
export const MiB = 1024 * KiB;
