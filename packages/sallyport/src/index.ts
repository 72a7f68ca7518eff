/** What an embedding program may import. */

export { type Clock, systemClock } from '@sallyport/std/clock';
export { ERRORS, type ErrorCode, type ErrorEntry } from '@sallyport/std/error/catalogue';
export { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
export { fileToolManifests, webToolManifests } from './compose/built-in-tools.ts';
export {
  type CallClient,
  type ClientRoot,
  type Completion,
  createToolLayer,
  type Elicitation,
  type ElicitationAnswer,
  type EmbeddedToolLayer,
  LOCAL_CALLER,
  type NativeCallContext,
  type NativeFunction,
  type SideEffectListener,
  type ToolLayerOptions,
} from './compose/create-tool-layer.ts';
export type {
  FunctionDefinition,
  FunctionInput,
  FunctionTools,
  LangChainFunctionOptions,
  LangChainRegistrations,
} from './compose/program/function-tools.ts';
export type {
  Complete,
  OfferedResource,
  OfferTools,
  ProgramPrompt,
  ProgramResource,
  ProgramTemplate,
  PromptAnswer,
  PromptArgument,
  ResourceAnswer,
} from './compose/program/offer-tools.ts';
export { type Server, serve } from './compose/serve.ts';
export { SETTINGS, type Setting, type Settings, variableOf } from './compose/settings.ts';
export type { LogLevel } from './domain/invocation/log-message.ts';
export type { ToolState } from './domain/invocation/tool-state.ts';
export type { Caller, Door, Principal, Progress } from './domain/principal/principal.ts';
export type { QuestionKind } from './domain/questions/client-question.ts';
export type {
  AfterAnswer,
  AfterHook,
  BeforeAnswer,
  BeforeHook,
  Hook,
  HookedCall,
  HookedResult,
  HookMatch,
} from './hooks/hook.ts';
export type {
  FilterConfidence,
  FilteredCall,
  FilteredText,
  OutputFilter,
} from './model-facing/output-filter.ts';
export { OPERATIONS, type OperationInput, type OperationName, type OperationOutput } from './operations/catalogue.ts';
export type { ToolLayer } from './operations/tool-layer.ts';
export { type Log, silentLog } from './telemetry/log.ts';
