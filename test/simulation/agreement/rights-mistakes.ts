/*
 * Clusters around the objects that are wrong about rights in one way each, and the script that has to tell them from a real one. A
 * part of api-mistakes.ts.
 */
import { bindingIn, RIGHTS_BINDING } from '../../../bridge/rights-binding.ts';
import type { ApiServer } from '../api-server.ts';
import type { Chart } from '../fleet/chart.ts';
import type { KnownMistake } from './api-mistakes.ts';

const WITHIN =
  'a RoleBinding gives rights in its namespace alone, and until its last finalizer is off when it is deleted';
const ENDING =
  'in a namespace that ends the rights go with their binding, stay while that has a finalizer, and cannot be given again';

const withChart =
  (spoil: (chart: Chart, server: ApiServer) => void): NonNullable<KnownMistake['spoil']> =>
  ({ chart }, server) => {
    if (chart !== undefined) spoil(chart, server);
  };

/** All of them. */
export const rightsMistakes: readonly KnownMistake[] = [
  {
    what: 'gives rights in all namespaces by a binding in one',
    spoil: withChart((chart) => {
      const refuses = chart.refuses.bind(chart);
      chart.refuses = (verb, place) => refuses(verb, { namespace: 'team-c', ...place });
    }),
    noticedBy: WITHIN,
  },
  {
    what: 'takes the rights away when their binding is marked, and not when it is gone',
    spoil: withChart((chart, server) => {
      const isBound = chart.isBound.bind(chart);
      const isMarked = (namespace: string) =>
        server.get(bindingIn(namespace))?.metadata.deletionTimestamp !== undefined;
      chart.isBound = (namespace) => isBound(namespace) && (chart.isWide || !isMarked(namespace));
    }),
    noticedBy: WITHIN,
  },
  {
    what: 'leaves the rights where their binding is gone',
    spoil: withChart((chart) => {
      const wereBound = new Set<string>();
      const isBound = chart.isBound.bind(chart);
      chart.isBound = (namespace) => {
        if (isBound(namespace)) wereBound.add(namespace);
        return wereBound.has(namespace);
      };
    }),
    noticedBy: ENDING,
  },
  {
    what: 'lets rights be given in a namespace that ends',
    spoil: withChart((chart) => {
      chart.isStaying = () => true;
    }),
    noticedBy: ENDING,
  },
  {
    what: 'lets the binding be read and changed without the rights that it gives',
    spoil: withChart((chart) => {
      const refuses = chart.refuses.bind(chart);
      chart.refuses = (verb, place) => place.group !== RIGHTS_BINDING.group && refuses(verb, place);
    }),
    noticedBy: WITHIN,
  },
  {
    what: 'serves in a namespace what is in none',
    spoil: (site) => {
      const isServed = site.isServed.bind(site);
      site.isServed = ({ namespace: _, ...kind }) => isServed(kind);
    },
    noticedBy: 'within a namespace no kind is served that is in none',
  },
];
