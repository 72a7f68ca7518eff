/** What judges a text, a command, an address or a path: no server, no database, no process is started. docs/detectors.md */
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
  THREATS,
  type Threat,
  type ValueFinding,
} from './detectors/sanitise.ts';
export {
  type DescribedTool,
  type DescriptionFinding,
  type DescriptionVerdict,
  scanDescription,
  writtenOut,
} from './detectors/scan-description.ts';
export { type OutputFinding, type OutputVerdict, scanOutput, scanOutputInTurns } from './detectors/scan-output.ts';
export {
  type CommandCheck,
  type CommandFinding,
  type CommandPolicy,
  type CommandScreen,
  type CommandVerdict,
  checkCommand,
  createCommandScreen,
} from './screens/check-command.ts';
export { checkPath, type PathPolicy, type PathVerdict, SENSITIVE_PATHS } from './screens/check-path.ts';
export { checkTemplate, type TemplateCheck } from './screens/check-template.ts';
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
