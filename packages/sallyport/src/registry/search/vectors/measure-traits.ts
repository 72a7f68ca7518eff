import type { EmbedderTraits } from '../../embedder.port.ts';
import { cosineOf } from './unit-vector.ts';

/**
 * Requests, each with the description of a tool that serves it and none of the others. They calibrate the cosines of an
 * unknown model.
 */
export const REFERENCE_PAIRS: readonly (readonly [request: string, tool: string])[] = [
  ['What will the weather be in Lisbon tomorrow?', 'Weather forecast for a place and a day.'],
  ['Turn this paragraph into Portuguese', 'Translates text from one language into another.'],
  ['What happened in politics this week?', 'Searches recent news articles.'],
  ['Write to Maria that I will be late', 'Sends an e-mail to a contact.'],
  ['How many yen do I get for 300 pounds?', 'Converts an amount from one currency to another.'],
  ['The login button does nothing, please report that', 'Creates an issue in the bug tracker of a project.'],
  ['Which customers have no orders?', 'Runs a SQL query on the sales database.'],
  ['A table for four on Friday evening, please', 'Books tables in restaurants.'],
  ['I need somewhere to sleep near the airport', 'Finds hotels with free rooms and their prices.'],
  ['What is 7 to the power of 5 divided by 3?', 'Calculator for arithmetic expressions.'],
  ['Make this picture half as wide', 'Resizes and crops image files.'],
  ['Move my meeting with the dentist to Thursday', 'Changes appointments in the calendar.'],
  ['Who changed this line of code last?', 'Shows the history of a Git repository.'],
  ['I have chickpeas and spinach, what can I cook?', 'Suggests recipes for the ingredients at hand.'],
  ['Play something quiet by a female singer', 'Finds songs and plays music.'],
  ['How do shares of car makers do today?', 'Prices of stocks and their development.'],
];

/**
 * Measures a model.
 * @param vectors of the requests and then of the tools of {@link REFERENCE_PAIRS}, of norm 1
 */
export function traitsOf(vectors: readonly Float32Array[]): EmbedderTraits {
  const requests = vectors.slice(0, REFERENCE_PAIRS.length);
  const tools = vectors.slice(REFERENCE_PAIRS.length);
  const related: number[] = [];
  const unrelated: number[] = [];
  for (const [at, request] of requests.entries()) {
    for (const [other, tool] of tools.entries()) {
      (at === other ? related : unrelated).push(cosineOf(request, tool));
    }
  }
  return {
    dimensions: vectors[0]?.length ?? 0,
    boundaryCosine: boundaryOf(related, unrelated),
    relatedCosine: medianOf(related),
  };
}

/**
 * The cosine where the share of related pairs below equals the share of unrelated pairs above: both kinds of errors are
 * equal.
 */
function boundaryOf(related: readonly number[], unrelated: readonly number[]): number {
  const candidates = [...related, ...unrelated].sort((one, other) => one - other);
  const below = (values: readonly number[], bound: number): number =>
    values.filter((value) => value < bound).length / values.length;
  return candidates.find((bound) => below(related, bound) >= 1 - below(unrelated, bound)) ?? 0;
}

function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
