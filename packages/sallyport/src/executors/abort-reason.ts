import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';

/**
 * The error for an aborted run. The pipeline aborts with an error of its own; any other reason becomes E3103 for a
 * timeout of the platform, else E3805.
 */
export function abortReason(signal: AbortSignal): ToolLayerError {
  const reason: unknown = signal.reason;
  if (reason instanceof ToolLayerError) return reason;
  if (reason instanceof DOMException && reason.name === 'TimeoutError') {
    return new ToolLayerError('E3103', 'The tool did not end in time and was stopped.', { cause: reason });
  }
  return new ToolLayerError('E3805', 'The call was cancelled.', { cause: reason });
}

/**
 * The result of work that does not notice the signal, such as operations on files; it continues after an abort.
 * @throws the signal's reason
 */
export function orAborted<Result>(working: Promise<Result>, signal: AbortSignal): Promise<Result> {
  const { promise, resolve, reject } = Promise.withResolvers<Result>();
  const leave = (): void => reject(abortReason(signal));
  signal.addEventListener('abort', leave, { once: true });
  if (signal.aborted) leave();
  working.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave));
  return promise;
}
