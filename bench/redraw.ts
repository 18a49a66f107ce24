import { readPictures, writePictures } from './support/pictures.ts';

// Draws the pictures of the last full run again, after a change of support/chart.ts: node bench/redraw.ts

writePictures(readPictures());
