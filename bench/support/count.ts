/** A whole number from 1, as it was typed. Throws for anything else. */
export function parseCount(text: string): number {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 1) throw new Error(`"${text}" is no count`);
  return number;
}
