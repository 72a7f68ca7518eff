import { readOptions } from '../options.ts';
import { block, blockHere, hasMatch, hasWord, type RuleRows } from './rule-kit.ts';

const FORMATS = block('formats-disk', 'it erases a disk or a file system');
const DEVICE = /^\/dev\/(?!null$|zero$|stdout$|stderr$|tty$|fd\/|shm\/)/;
const IMAGES = /^(?:\/dev\/loop|(?!\/dev\/))/;

/** What erases disks. */
export const DEVICE_RULES: RuleRows = [
  [
    'mkfs mkfs.ext2 mkfs.ext3 mkfs.ext4 mkfs.xfs mkfs.btrfs mkfs.vfat mkfs.fat mkfs.ntfs mkfs.exfat mkfs.f2fs mkfs.minix mkfs.cramfs mke2fs mkntfs mkexfatfs mkdosfs newfs',
    // A file system within a file harms nothing.
    ({ args }) =>
      hasMatch(args, DEVICE) ||
      !readOptions(args, { valued: 'tLbiINmOTUFCSsn' }).operands.some(({ text }) => IMAGES.test(text))
        ? FORMATS
        : undefined,
  ],
  ['wipefs', ({ args }) => (readOptions(args).has('-a', '--all', '-o', '--offset') ? FORMATS : undefined)],
  [
    'blkdiscard sgdisk',
    ({ args }) =>
      readOptions(args).has('-Z', '-z', '--zap-all', '--zap', '-o', '--clear') || hasMatch(args, DEVICE)
        ? FORMATS
        : undefined,
  ],
  ['mkswap', ({ args }) => (hasMatch(args, DEVICE) ? FORMATS : undefined)],
  [
    'hdparm',
    ({ args }) =>
      hasMatch(args, /^--(?:security-erase|trim-sector|write-sector|repair-sector|make-bad-sector)/)
        ? FORMATS
        : undefined,
  ],
  ['nvme', ({ args }) => (hasWord(args, 'format', 'sanitize', 'write-zeroes', 'delete-ns') ? FORMATS : undefined)],
  ['badblocks', ({ args }) => (readOptions(args, { valued: 'bceiopst' }).has('-w') ? FORMATS : undefined)],
  ['cryptsetup', ({ args }) => (hasWord(args, 'erase', 'luksErase', 'luksFormat', 'reencrypt') ? FORMATS : undefined)],
  ['zpool zfs', ({ args }) => (hasWord(args.slice(0, 1), 'destroy', 'labelclear') ? FORMATS : undefined)],
  ['lvremove vgremove pvremove', () => blockHere('formats-disk', 'it removes a volume')],
  ['parted', ({ args }) => (hasWord(args, 'mklabel', 'mktable', 'rm', 'mkpart', 'resizepart') ? FORMATS : undefined)],
  ['sfdisk', ({ args }) => (hasWord(args, '--delete', '--wipe', '--force') ? FORMATS : undefined)],
  [
    'dd dcfldd dc3dd',
    ({ args, writes }) => {
      const target = args.find(({ text }) => text.startsWith('of='))?.text.slice(3);
      if (target !== undefined) writes(target);
      return target !== undefined && DEVICE.test(target) ? block('writes-device', 'it overwrites a device') : undefined;
    },
  ],
  ['diskutil', ({ args }) => (hasMatch(args, /^(?:erase|partition|zero|secureErase|reformat)/i) ? FORMATS : undefined)],
];
