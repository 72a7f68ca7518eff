import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { isSealed, openText, sealText } from '@sallyport/std/text/sealed-text';

/** Arguments of a call. */
type Parameters = Record<string, unknown>;

/** The only member of encrypted arguments. */
const SEALED = 'sealed';

/** Encrypts arguments for storage, and reads them again (AES-256-GCM). */
export interface ParametersSeal {
  /** @param place where they are stored; they can be opened only there */
  seal(parameters: Readonly<Parameters>, place: readonly string[]): Parameters;
  /** Undefined when this key does not open them. Arguments that were stored before encryption stay as they are. */
  open(parameters: Readonly<Parameters>, place: readonly string[]): Parameters | undefined;
}

/** @param key of 32 bytes */
export function parametersSeal(key: Uint8Array): ParametersSeal {
  return {
    seal: (parameters, place) => ({ [SEALED]: sealText(key, JSON.stringify(parameters), JSON.stringify(place)) }),
    open(parameters, place) {
      const text = parameters[SEALED];
      if (typeof text !== 'string' || !isSealed(text)) return { ...parameters };
      const opened = openText(key, text, JSON.stringify(place));
      return opened === undefined ? undefined : (JSON.parse(opened) as Parameters);
    },
  };
}

/**
 * E3812 for arguments that this instance cannot decrypt.
 * @param id of their call or approval
 */
export const unreadableArguments = (id: string): ToolLayerError =>
  new ToolLayerError(
    'E3812',
    `The arguments of ${id} cannot be decrypted. Restore the key of this database (secrets.key_file, or secrets/key in the data folder).`,
  );
