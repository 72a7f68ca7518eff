import { integer, oneOf, text } from '../../domain/settings/rows.ts';

/** Where large and archived states are. */
export const OBJECT_STORE_ROWS = [
  oneOf('object_store.kind', ['folder', 's3'], {
    default: 'folder',
    sentence:
      'Where states of checkpoints are that are large or archived. folder: on this machine. s3: in a bucket of any service that speaks as S3 does.',
  }),
  text('object_store.folder', {
    default: '',
    sentence: 'Folder of the objects; several instances need the same one. Empty: objects in data_folder.',
  }),
  text('object_store.s3_url', {
    default: '',
    sentence: 'Address of the bucket, as https://host/bucket or https://bucket.host.',
  }),
  text('object_store.s3_region', { default: 'us-east-1', sentence: 'Region of the bucket.' }),
  text('object_store.s3_key_id_secret', {
    default: 's3_access_key_id',
    sentence: 'Name of the secret that holds the id of the access key.',
  }),
  text('object_store.s3_key_secret', {
    default: 's3_secret_access_key',
    sentence: 'Name of the secret that holds the secret half of the access key.',
  }),
  text('object_store.s3_archive_class', {
    default: '',
    sentence: 'Storage class of archived states, such as GLACIER; empty is the usual class of the bucket.',
  }),
  integer('object_store.s3_restored_days', {
    unit: 'days',
    minimum: 1,
    default: 7,
    sentence: 'How long an object of such a class stays readable once it was brought back.',
  }),
];
