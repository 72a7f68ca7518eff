import type { ToolInvokeRequest } from '../../../api/schemas/invocation.ts';

type Values = Readonly<Record<string, unknown>>;

/** Names of what a call has beside its arguments, where the call is judged. */
const ENVIRONMENT = 'execution_options.environment';
const DOCUMENTS = 'document_context';

/**
 * What a person or a model judges of a call: its arguments, its variables if it sets any (EXE-10), and the documents that
 * it names (DOC-05).
 */
export function judgedArguments(
  parameters: Values,
  { execution_options, document_context }: Pick<ToolInvokeRequest, 'execution_options' | 'document_context'>,
): Values {
  const environment = execution_options?.environment;
  if (environment === undefined && document_context === undefined) return parameters;
  return {
    ...parameters,
    ...(environment === undefined ? {} : { [ENVIRONMENT]: environment }),
    ...(document_context === undefined ? {} : { [DOCUMENTS]: document_context }),
  };
}
