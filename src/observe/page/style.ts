import { BASE } from './style/base.ts';
import { CHARTS } from './style/charts.ts';
import { COLOURS } from './style/colours.ts';
import { CONTROLS } from './style/controls.ts';
import { FEED } from './style/feed.ts';
import { MEDIA } from './style/media.ts';
import { STATE } from './style/state.ts';

/** Uses no external resources, which the Content-Security-Policy would block. */
export const STYLE = [COLOURS, BASE, STATE, CHARTS, FEED, CONTROLS, MEDIA].join('');
