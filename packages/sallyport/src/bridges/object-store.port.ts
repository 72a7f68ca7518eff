/** `kept`: read often and at once. `archived`: kept for years and hardly ever read; a store may take hours to give it back. */
export type ObjectUse = 'kept' | 'archived';

/** An object that is there, but can only be read some time after it was asked for with `bringBack`. */
export const IN_ARCHIVE = 'in-archive';

/**
 * Bytes by name, durable. A name is 2 segments with `/` between them, of `A-Z a-z 0-9 _ . -`, none of which begins with a
 * dot; it is used for one content only. All methods throw ToolLayerError E3823 while the store cannot be reached, is full
 * or refuses the layer, and E3900 for another name.
 */
export interface ObjectStore {
  /** Stores an object. After an error nothing of it can be read. Again with the same content: nothing changes. */
  put(name: string, bytes: Uint8Array, use: ObjectUse): Promise<void>;
  /**
   * Reads an object of this size.
   * @returns undefined when there is none, or one of another size
   */
  get(name: string, size: number): Promise<Uint8Array | typeof IN_ARCHIVE | undefined>;
  /**
   * Asks for an object of the archive to be made readable. Again for the same object: only says how far that is.
   * @returns `pending` until `get` gives it; undefined when there is none
   */
  bringBack(name: string): Promise<'readable' | 'pending' | undefined>;
  /** Removes an object, and what an interrupted `put` of it left. None of that name: nothing happens. */
  remove(name: string): Promise<void>;
}

const NAME = /^[A-Za-z0-9_-][A-Za-z0-9_.-]*\/[A-Za-z0-9_-][A-Za-z0-9_.-]*$/;

/** True for a name that every object store takes. */
export const isObjectName = (name: string): boolean => NAME.test(name) && name.length <= 200;
