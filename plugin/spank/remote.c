/* What the plugin does in slurmstepd. It runs before each task of a job with a
 * ticket, as the job's user. */
#include "varq.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* is_first reports whether the work starts with this step: the batch script, salloc's
 * shell if that is a step, or the first srun. */
static int is_first(uint32_t step)
{
	return step == SLURM_BATCH_SCRIPT || step == SLURM_INTERACTIVE_STEP || step == 0;
}

/* hold_until returns the first field of a ticket: when the work begins, in Unix
 * seconds. */
static long long hold_until(const char *ticket)
{
	return strtoll(ticket, NULL, 10);
}

/* hold_task runs varq-wrapper if the task must wait. It does not return if the work
 * is cancelled. If anything fails, the task runs at once. */
int hold_task(spank_t sp, const char *wrapper)
{
	char ticket[TICKET_SIZE];
	spank_err_t err = spank_getenv(sp, TICKET_VARIABLE, ticket, sizeof ticket);
	if (err == ESPANK_ENV_NOEXIST)
		return 0;
	/* Without the ticket, nothing that the work starts is held a second time. */
	spank_unsetenv(sp, TICKET_VARIABLE);
	if (err != ESPANK_SUCCESS) {
		slurm_error("varq: %s: %s; the work starts at once", TICKET_VARIABLE, spank_strerror(err));
		return 0;
	}

	uint32_t job = 0, step = 0, task = 0;
	spank_get_item(sp, S_JOB_ID, &job);
	spank_get_item(sp, S_JOB_STEPID, &step);
	spank_get_item(sp, S_TASK_GLOBAL_ID, &task);
	if (!is_first(step) && time(NULL) >= hold_until(ticket))
		return 0;
	char restarts[16] = "0"; /* the item S_SLURM_RESTART_COUNT is always 0 */
	spank_getenv(sp, "SLURM_RESTART_COUNT", restarts, sizeof restarts);

	char job_arg[32], restarts_arg[32], ticket_arg[sizeof "--ticket=" + TICKET_SIZE];
	snprintf(job_arg, sizeof job_arg, "--job=%u", job);
	snprintf(restarts_arg, sizeof restarts_arg, "--restarts=%s", restarts);
	snprintf(ticket_arg, sizeof ticket_arg, "--ticket=%s", ticket);
	const char *lead_arg = is_first(step) && task == 0 ? "--lead" : "--lead=false";
	const char *argv[] = { wrapper, "--hold", ticket_arg, job_arg, restarts_arg, lead_arg, NULL };
	if (run_wrapper((char *const *)argv) == WORK_IS_CANCELLED)
		_exit(EXIT_FAILURE); /* Slurm ignores the return value of an optional plugin */
	return 0;
}
