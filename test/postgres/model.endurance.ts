import { unlessAll } from '../support/extent.ts';
import { testHistories } from './histories.ts';

testHistories(unlessAll(15, 180), unlessAll(10, 120));
