// The text of an error for a model, for the doors that serve one (MOD-01).
export { type ToolErrorContext, toolErrorText } from '../model-facing/tool-error.ts';
