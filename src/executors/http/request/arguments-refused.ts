import { ToolLayerError } from '../../../domain/error/tool-layer-error.ts';
import { pointerTo } from '../../../std/json/json-pointer.ts';

/** The error for an argument that cannot stand in a request. */
export function argumentRefused(property: string, message: string): ToolLayerError {
  const path = pointerTo('', property);
  return new ToolLayerError('E3509', `The argument ${path} ${message}.`, {
    details: { faults: [{ path, code: 'E3509', keyword: 'http', message }] },
  });
}
