import type { Setting } from './setting.ts';

/** Which files the file tools may touch within the folders of a call. */
export const FILE_SETTINGS = [
  {
    key: 'file.deny_read',
    type: 'list',
    default: ['**/.env', '**/secrets/**', '**/.git/config'],
    sentence: 'Globs over canonical paths that file tools never read, list or search. Asked before what is allowed.',
  },
  {
    key: 'file.allow_read',
    type: 'list',
    default: [],
    sentence: 'When not empty, file tools read only files that fit one of these globs.',
  },
  {
    key: 'file.deny_write',
    type: 'list',
    default: ['**/.git/**'],
    sentence: 'Globs over canonical paths that file tools never write, beside those of file.deny_read.',
  },
  {
    key: 'file.allow_write',
    type: 'list',
    default: [],
    sentence: 'When not empty, file tools write only files that fit one of these globs.',
  },
] as const satisfies readonly Setting[];
