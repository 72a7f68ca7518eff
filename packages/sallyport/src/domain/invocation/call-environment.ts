type Values = Readonly<Record<string, unknown>>;

/** Name of the call's variables beside its arguments, where the call is judged. */
const MEMBER = 'execution_options.environment';

/** What a person or a model judges of a call: its arguments, and its variables if it sets any (EXE-10). */
export function judgedArguments(parameters: Values, environment: Readonly<Record<string, string>> | undefined): Values {
  return environment === undefined ? parameters : { ...parameters, [MEMBER]: environment };
}
