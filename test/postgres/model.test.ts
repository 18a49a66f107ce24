import { testHistories } from './histories.ts';

testHistories(20, 10);
