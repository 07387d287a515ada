/*
 * Entry of `npm run chart`: writes the files of the chart that are made from sources anew; with `--check` it only says
 * whether they are what the sources give, and fails if not.
 */
import { chartFiles } from './chart-files.ts';
import { keepGenerated } from './generated.ts';

await keepGenerated(chartFiles(), 'npm run chart');
