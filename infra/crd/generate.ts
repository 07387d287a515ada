/*
 * Entry of `npm run crd`: writes what is made of the schema of TeardownRule, the manifest and the reference for people;
 * with `--check` it only says whether the files are what the schema gives, and fails if not.
 */
import { keepGenerated } from '../generated.ts';
import { ruleFiles } from './files.ts';

await keepGenerated(ruleFiles(), 'npm run crd');
