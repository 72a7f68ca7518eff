import { isFailure } from '@sallyport/std/error/failure';
import { messageOf } from '@sallyport/std/error/message-of';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { parse } from 'smol-toml';
import { PolicyCase, type PolicyFaultBody, type PolicyFileBody } from '../../../api/schemas/policy.ts';
import type { FiledCase } from '../../permission/policy-administration.ts';
import type { SchemaValidator } from '../../validation/schema-validator.ts';

/** The tests in some files, and the faults of unreadable ones. */
export interface ReadCases {
  readonly cases: FiledCase[];
  readonly faults: PolicyFaultBody[];
}

/** Reads test files: TOML with `[[cases]]`, or JSON with `cases` or a list of them. */
export function readCases(files: readonly PolicyFileBody[], schemas: SchemaValidator): ReadCases {
  const schema = schemas.compile({ ...PolicyCase });
  if (isFailure(schema)) throw ToolLayerError.of(schema);
  const read: ReadCases = { cases: [], faults: [] };
  for (const { name: file, text } of files) {
    try {
      for (const [index, wanted] of casesIn(file, text).entries()) {
        const [fault] = schema.check(wanted, { coerce: false }).faults;
        if (fault === undefined) read.cases.push({ file, wanted: wanted as PolicyCase });
        else read.faults.push({ file, message: `${file}, case ${index + 1}: ${fault.path} ${fault.message}` });
      }
    } catch (thrown) {
      const [reason = ''] = messageOf(thrown).split('\n');
      read.faults.push({ file, message: `${file}: ${reason}` });
    }
  }
  return read;
}

function casesIn(file: string, text: string): readonly unknown[] {
  const whole: unknown = file.endsWith('.json') ? JSON.parse(text) : parse(text);
  if (Array.isArray(whole)) return whole;
  const { cases, ...others } = (whole ?? {}) as Readonly<Record<string, unknown>>;
  const [odd] = Object.keys(others);
  if (odd !== undefined) throw new Error(`there is no key ${odd}; tests stand under cases.`);
  if (!Array.isArray(cases)) throw new Error('it holds no list of cases.');
  return cases;
}
