/** Units of size, so that no size is written as a bare product. */
export const KiB = 1024;
export const MiB = 1024 * KiB;
