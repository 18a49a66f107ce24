export type Tick = { readonly value: number; readonly isMinor: boolean };
export type Axis = { readonly at: (value: number) => number; readonly ticks: readonly Tick[] };
/** An axis that holds these values, from one place in a picture to another. */
export type MakeAxis = (values: readonly number[], begin: number, end: number) => Axis;

/** A linear axis has about so many steps. */
const STEPS = 6;

/** From the power of ten below the least to the one above the most; the values are above 0. */
export const logAxis: MakeAxis = (values, begin, end) => {
  const from = Math.floor(Math.log10(Math.min(...values)));
  const to = Math.max(from + 1, Math.ceil(Math.log10(Math.max(...values))));
  const powers = Array.from({ length: to - from + 1 }, (_, index) => from + index);
  const all = powers.flatMap((power) => [1, 2, 5].map((digit) => ({ value: digit * 10 ** power, isMinor: digit > 1 })));
  return {
    at: (value) => begin + ((Math.log10(value) - from) / (to - from)) * (end - begin),
    ticks: all.filter(({ value }) => value <= 10 ** to),
  };
};

/** From 0 to the most, in steps of 1, 2 or 5 and zeros; no value is below 0. */
export const linearAxis: MakeAxis = (values, begin, end) => {
  const most = Math.max(...values);
  const power = 10 ** Math.floor(Math.log10(most / STEPS));
  const step = power * ([1, 2, 5].find((digit) => digit * power >= most / STEPS) ?? 10);
  const steps = Math.ceil(most / step);
  return {
    at: (value) => begin + (value / (steps * step)) * (end - begin),
    ticks: Array.from({ length: steps + 1 }, (_, index) => ({ value: index * step, isMinor: false })),
  };
};
