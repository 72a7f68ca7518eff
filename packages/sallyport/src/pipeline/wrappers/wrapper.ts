import type { Flight, FlightEnd } from '../flight/flight.ts';

/** Takes a call to its end. */
export type Flying = (flight: Flight) => Promise<FlightEnd>;

/** Something that concerns every call, laid around the whole list of stages. */
export interface Wrapper {
  readonly name: string;
  wrap(next: Flying): Flying;
}
