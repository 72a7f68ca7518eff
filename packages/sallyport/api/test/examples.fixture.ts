/** A time in the format of the contract. */
export const AT = '2026-11-21T10:00:00.000Z';
/** A small manifest with all required members. */
export const MANIFEST = {
  tool_id: 'weather__forecast',
  tool_name: 'Forecast',
  version: '1.2.0',
  description: 'The weather of the next days.',
  parameters_schema: { type: 'object' },
  executor: { kind: 'http', config: { url: 'https://api.example.com' } },
};
