/**
 * What judges a text, a command, an address, a path or a value, usable alone: no server, no database, no process is
 * started. The stages of a call use the same functions. docs/detectors.md
 */
export {
  createRedactor,
  DEFAULT_REDACTION_KINDS,
  findSensitive,
  KINDS_BY_CATEGORY,
  REDACTION_KINDS,
  type Redacted,
  type RedactionFinding,
  type RedactionKind,
  type RedactionOptions,
  type Redactor,
  redact,
} from './detectors/redact.ts';
export {
  createSanitiser,
  detectInjection,
  type InjectionFinding,
  patternsOf,
  type SanitiseAction,
  type Sanitised,
  type SanitiseOptions,
  type SanitiseProfile,
  type Sanitiser,
  sanitise,
  type Threat,
} from './detectors/sanitise.ts';
export {
  type DescribedTool,
  type DescriptionFinding,
  type DescriptionVerdict,
  scanDescription,
} from './detectors/scan-description.ts';
export { type OutputFinding, type OutputVerdict, scanOutput } from './detectors/scan-output.ts';
export {
  type CommandCheck,
  type CommandFinding,
  type CommandPolicy,
  type CommandVerdict,
  checkCommand,
} from './screens/check-command.ts';
export { checkPath, type PathPolicy, type PathVerdict, SENSITIVE_PATHS } from './screens/check-path.ts';
export {
  type AddressClass,
  addressAllowed,
  checkUrl,
  checkUrlResolved,
  classifyAddress,
  type ResolvedUrlVerdict,
  type Resolver,
  type UrlPolicy,
  type UrlVerdict,
} from './screens/check-url.ts';
export { extractPaths, type FoundPath } from './screens/extract-paths.ts';
export {
  type CheckedValue,
  type CompiledSchema,
  createSchemaValidator,
  type SchemaValidator,
  type SchemaValidatorOptions,
} from './validation/schema-validator.ts';
