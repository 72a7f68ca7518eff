/** Why one operation has no manifest. Caught by the importer, which lists it as skipped. */
export class NotImportable extends Error {
  override readonly name = 'NotImportable';
}
