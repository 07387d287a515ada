/*
 * The door between serverless.yml and the TypeScript beside it: the framework can load CommonJS only.
 * Called by the framework once per `${file(./infra/functions.cjs):...}`; functions/service.ts does the work.
 * `--param values=<file>` names another values file than functions.values.yml.
 * The framework only takes a configuration of the folder it is run in, so that is where the values lie.
 */

/** Commands that touch nothing outside, so that they may work with the example's values. */
const HARMLESS = new Set(['package', 'print']);
/** Commands that people look at to see what becomes of their values. */
const TELLING = new Set([...HARMLESS, 'deploy']);

/** Services by values file, so that the look-ups of one run read and check it once. */
const services = new Map();

module.exports = ({ options }) => {
  const named = (options.param ?? []).find((param) => param.startsWith('values='));
  const file = named?.slice('values='.length);
  if (!services.has(file)) {
    const exampleAllowed = HARMLESS.has(process.argv[2]);
    const { stage, region } = options;
    const say = TELLING.has(process.argv[2]) ? console.error : () => {};
    const where = {
      file,
      folder: process.cwd(),
      exampleAllowed,
      asked: { stage, region },
      deploys: process.argv[2] === 'deploy',
    };
    const service = Promise.all([import('./functions/service.ts'), import('../functions/registry.ts')]).then(
      ([{ loadService }, { registry }]) => loadService({ ...where, handlers: registry }, say),
    );
    services.set(file, service);
  }
  return services.get(file);
};
