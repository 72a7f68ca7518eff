import type { Setting } from './setting.ts';

/** Which files the file tools may touch within the folders of a call. */
export const FILE_SETTINGS = [
  {
    key: 'file.deny_read',
    variable: 'SALLYPORT_FILE_DENY_READ',
    type: 'list',
    default: ['**/.env', '**/secrets/**', '**/.git/config'],
    sentence: 'Globs over canonical paths that file tools never read, list or search. Asked before what is allowed.',
  },
  {
    key: 'file.allow_read',
    variable: 'SALLYPORT_FILE_ALLOW_READ',
    type: 'list',
    default: [],
    sentence: 'When not empty, file tools read only files that fit one of these globs.',
  },
  {
    key: 'file.deny_write',
    variable: 'SALLYPORT_FILE_DENY_WRITE',
    type: 'list',
    default: ['**/.git/**'],
    sentence: 'Globs over canonical paths that file tools never write, beside those of file.deny_read.',
  },
  {
    key: 'file.allow_write',
    variable: 'SALLYPORT_FILE_ALLOW_WRITE',
    type: 'list',
    default: [],
    sentence: 'When not empty, file tools write only files that fit one of these globs.',
  },
] as const satisfies readonly Setting[];
