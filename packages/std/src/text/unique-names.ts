/**
 * Makes names differ: one that is taken gets the first number that is free. The numbers of a name continue where they ended,
 * so that the time grows with the number of names, also where strangers choose thousands that become equal.
 * @param numbered the name with a number, from 2 on
 * @param isTaken true for a name that is in use elsewhere; default: none
 * @returns gives out a name
 */
export function uniqueNames(
  numbered: (name: string, number: number) => string,
  isTaken: (name: string) => boolean = () => false,
): (name: string) => string {
  const given = new Set<string>();
  let next: Map<string, number> | undefined;
  const isFree = (name: string): boolean => !given.has(name) && !isTaken(name);
  return (name) => {
    let free = name;
    if (!isFree(name)) {
      let number = next?.get(name) ?? 2;
      while (!isFree(numbered(name, number))) number += 1;
      free = numbered(name, number);
      next ??= new Map();
      next.set(name, number + 1);
    }
    given.add(free);
    return free;
  };
}
