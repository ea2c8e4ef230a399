import { isoTime } from '../../../platform/clock.ts';
import { DoctorReport } from '../../../schemas/doctor.ts';
import { route } from '../../conventions/route.ts';
import { readEnvironmentFacts, readIncompleteMeters } from './repository.ts';
import { tenantChecks, worstOf } from './tenant-checks.ts';

export const doctorRoutes = [
  route({
    method: 'POST',
    path: '/operations/doctor',
    summary: 'Check the service as far as it concerns this environment',
    permission: 'doctor:read',
    status: 200,
    answer: DoctorReport,
    async handler({ deps, scope }) {
      const [service, meters, environment] = await Promise.all([
        deps.serviceFacts(),
        readIncompleteMeters(deps.pool, scope),
        readEnvironmentFacts(deps.pool, scope),
      ]);
      const checks = tenantChecks(service, meters, environment);
      return { state: worstOf(checks), checked_at: isoTime(deps.clock.now()), checks };
    },
  }),
];
