/** 1 024 bytes; sizes use these units instead of bare products. */
export const KiB = 1024;
/** 1 048 576 bytes. */
export const MiB = 1024 * KiB;
