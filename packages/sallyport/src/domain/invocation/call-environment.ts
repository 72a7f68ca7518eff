type Values = Readonly<Record<string, unknown>>;

/** Under what the variables of a call stand beside its arguments, where somebody judges the call. */
const MEMBER = 'execution_options.environment';

/** What a person or a model judges of a call: its arguments, and the variables that it sets where it sets any (EXE-10). */
export function judgedArguments(parameters: Values, environment: Readonly<Record<string, string>> | undefined): Values {
  return environment === undefined ? parameters : { ...parameters, [MEMBER]: environment };
}
