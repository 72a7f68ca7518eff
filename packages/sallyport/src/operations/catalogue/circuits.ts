import {
  Circuit,
  CircuitListRequest,
  CircuitListResponse,
  CircuitNameRequest,
  CircuitSetRequest,
} from '../../../api/schemas/calls/circuit.ts';
import type { OperationEntry } from '../operation.ts';

/** What keeps calls away from services that fail (CIR-01). */
export const CIRCUITS = {
  'circuits.list': {
    summary: 'List the circuits of this instance',
    method: 'GET',
    path: '/v1/circuits',
    status: 200,
    access: 'viewer',
    input: CircuitListRequest,
    output: CircuitListResponse,
  },
  'circuits.show': {
    summary: 'One circuit: its state, how calls went, when it is tried again',
    method: 'GET',
    path: '/v1/circuits/{name}',
    status: 200,
    access: 'viewer',
    input: CircuitNameRequest,
    output: Circuit,
  },
  'circuits.set': {
    summary: 'Hold a circuit open, disable it, or close it and begin anew',
    method: 'POST',
    path: '/v1/circuits/{name}/state',
    status: 200,
    access: 'operator',
    input: CircuitSetRequest,
    output: Circuit,
  },
} as const satisfies Record<string, OperationEntry>;
