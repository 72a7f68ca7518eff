import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { pointerTo } from '@sallyport/std/json/json-pointer';

/** The error for an argument that cannot be put into a request. */
export function argumentRefused(property: string, message: string): ToolLayerError {
  const path = pointerTo('', property);
  return new ToolLayerError('E3509', `The argument ${path} ${message}.`, {
    details: { faults: [{ path, code: 'E3509', keyword: 'http', message }] },
  });
}
