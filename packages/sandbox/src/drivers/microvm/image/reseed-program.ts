/** Bytes of a seed. */
export const SEED_BYTES = 32;

/**
 * A program for the guest that busybox lacks: it reads a seed of 32 bytes from its input and gives it to the kernel's random
 * numbers, by RNDADDENTROPY and RNDRESEEDCRNG (random(4)) on descriptor 3. Copies of one snapshot share the state of these
 * numbers, and bytes that are merely written to /dev/urandom count much later. Its exit code is 0 only when all of it worked.
 * Written by hand, for x86-64, because no compiler may be needed to make the image.
 */
export function reseedProgram(): Buffer {
  const size = HEADER_BYTES + CODE.length + 8 + SEED_BYTES;
  const header = Buffer.alloc(HEADER_BYTES);
  // ELF header: 64 bit, little endian, version 1, executable, x86-64.
  header.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1, 0]);
  header.writeUInt16LE(2, 16);
  header.writeUInt16LE(62, 18);
  header.writeUInt32LE(1, 20);
  header.writeBigUInt64LE(LOAD_ADDRESS + BigInt(HEADER_BYTES), 24);
  header.writeBigUInt64LE(64n, 32);
  header.writeUInt16LE(64, 52);
  header.writeUInt16LE(56, 54);
  header.writeUInt16LE(1, 56);
  // One program header: load all of the file, readable, writable and executable.
  header.writeUInt32LE(1, 64);
  header.writeUInt32LE(7, 68);
  header.writeBigUInt64LE(LOAD_ADDRESS, 80);
  header.writeBigUInt64LE(LOAD_ADDRESS, 88);
  header.writeBigUInt64LE(BigInt(size), 96);
  header.writeBigUInt64LE(BigInt(size), 104);
  header.writeBigUInt64LE(4096n, 112);
  return Buffer.concat([header, CODE, poolEntry()]);
}

const HEADER_BYTES = 64 + 56;
const LOAD_ADDRESS = 0x40_0000n;

/** `struct rand_pool_info`: bits of entropy, bytes that follow, and room for them. */
function poolEntry(): Buffer {
  const entry = Buffer.alloc(8 + SEED_BYTES);
  entry.writeUInt32LE(SEED_BYTES * 8, 0);
  entry.writeUInt32LE(SEED_BYTES, 4);
  return entry;
}

const CODE = Buffer.from(
  [
    // ebx = read(0, seed, 32) - 32: xor edi, edi; lea rsi, [seed]; mov edx, 32; xor eax, eax; syscall; mov ebx, eax; sub ebx, 32
    '31ff 488d3557000000 ba20000000 31c0 0f05 89c3 83eb20',
    // ebx |= ioctl(3, RNDADDENTROPY, entry): mov edi, 3; mov esi, 0x40085203; lea rdx, [entry]; mov eax, 16; syscall; or ebx, eax
    'bf03000000 be03520840 488d1530000000 b810000000 0f05 09c3',
    // ebx |= ioctl(3, RNDRESEEDCRNG, 0): mov edi, 3; mov esi, 0x5207; xor edx, edx; mov eax, 16; syscall; or ebx, eax
    'bf03000000 be07520000 31d2 b810000000 0f05 09c3',
    // exit(ebx != 0): xor edi, edi; test ebx, ebx; setne dil; mov eax, 60; syscall; nop, nop, nop
    '31ff 85db 400f95c7 b83c000000 0f05 909090',
  ]
    .join('')
    .replaceAll(' ', ''),
  'hex',
);
