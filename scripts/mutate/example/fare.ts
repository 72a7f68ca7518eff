/** Fare of a ride in cents. The tool that tries mutants is tested on it: its tests prove the first rule and leave the second unproven. */
export function fareOf({ age, isNight }: { readonly age: number; readonly isNight: boolean }): number {
  if (age < 6) return 0;
  return isNight ? 300 : 250;
}
