// An error in the words for a model, and the names that it could have meant, for the doors that speak to one (MOD-01).
export { nearestNames } from '../model-facing/nearest-names.ts';
export { type ToolErrorContext, toolErrorText } from '../model-facing/tool-error.ts';
