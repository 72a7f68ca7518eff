import { ERROR_CATEGORIES, WIRE_CODES } from '@sallyport/std/error/wire-codes';
import { type Static, Type } from 'typebox';
import { JsonObject } from './identifiers.ts';

/** Wire codes: ToolErrorCode of the BC-2 contract, and the outcomes that requirements.md adds to it. */
export const ToolErrorCode = Type.Enum(WIRE_CODES);
export type ToolErrorCode = Static<typeof ToolErrorCode>;

/** The eleven categories for the model (002, error taxonomy). */
export const ToolErrorCategory = Type.Enum(ERROR_CATEGORIES);
export type ToolErrorCategory = Static<typeof ToolErrorCategory>;

/** One fault of the input or of a result, with its place (VAL-01). */
export const Fault = Type.Object(
  {
    path: Type.String({ description: 'JSON Pointer to the value; empty for the whole.' }),
    code: Type.String({ description: 'E-code of this fault.' }),
    keyword: Type.String({ description: 'The schema keyword that was not met.' }),
    message: Type.String(),
    hint: Type.Optional(Type.String({ description: 'What to change.' })),
  },
  { additionalProperties: false },
);
export type Fault = Static<typeof Fault>;

/** The one error shape of every door; safe for agents. `details.faults` lists every fault of a refused input. */
export const ToolErrorBody = Type.Object(
  {
    code: ToolErrorCode,
    e_code: Type.String({ pattern: '^E3[0-9]{3}$', description: 'Row of the error catalogue.' }),
    category: ToolErrorCategory,
    message: Type.String(),
    details: Type.Optional(JsonObject),
    retryable: Type.Boolean(),
    retry_after_ms: Type.Optional(Type.Integer({ minimum: 0 })),
  },
  { additionalProperties: false },
);
export type ToolErrorBody = Static<typeof ToolErrorBody>;

/** RFC 9457 problem details, with the error body's fields as extension members. */
export const ProblemDetails = Type.Object(
  {
    type: Type.String(),
    title: Type.String(),
    status: Type.Integer(),
    detail: Type.String(),
    instance: Type.Optional(Type.String()),
    code: ToolErrorCode,
    e_code: Type.String(),
    category: ToolErrorCategory,
    retryable: Type.Boolean(),
    retry_after_ms: Type.Optional(Type.Integer()),
    details: Type.Optional(JsonObject),
  },
  { additionalProperties: false, title: 'Problem details (RFC 9457)' },
);
export type ProblemDetails = Static<typeof ProblemDetails>;
