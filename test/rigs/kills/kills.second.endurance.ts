import { describeRounds } from './describe-rounds.ts';

describeRounds(Number(process.env.TEST_SEED ?? Date.now() % 2 ** 31) + 100);
