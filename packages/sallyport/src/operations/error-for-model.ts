// An error in the words for a model, for the doors that speak to one (MOD-01).
export { type ToolErrorContext, toolErrorText } from '../model-facing/tool-error.ts';
