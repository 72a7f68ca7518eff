import { list } from '../../domain/settings/rows.ts';

/** Which files the file tools may touch within the folders of a call. */
export const FILE_SETTINGS = [
  list('file.deny_read', {
    default: ['**/.env', '**/secrets/**', '**/.git/config'],
    sentence: 'Globs over canonical paths that file tools never read, list or search. Asked before what is allowed.',
  }),
  list('file.allow_read', {
    default: [],
    sentence: 'When not empty, file tools read only files that fit one of these globs.',
  }),
  list('file.deny_write', {
    default: ['**/.git/**'],
    sentence: 'Globs over canonical paths that file tools never write, beside those of file.deny_read.',
  }),
  list('file.allow_write', {
    default: [],
    sentence: 'When not empty, file tools write only files that fit one of these globs.',
  }),
];
