/* What the plugin does in slurmstepd. It runs before each task of a job with a
 * ticket, as the job's user. */
#include "varq.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

/* is_member reports whether a ticket names a group, in its fifth field: varqd knows
 * whether the work of such a job runs. */
static int is_member(const char *ticket)
{
	const char *field = ticket;
	for (int i = 0; i < 4 && field; i++)
		if ((field = strchr(field, ':')))
			field++;
	return field && *field;
}

/* time_on returns the time limit of the work on a number of nodes, in seconds, by the
 * third field of a ticket: SECONDS, or NODES=SECONDS,... for a job whose size may have
 * changed since it was submitted. It returns 0 if that does not say. */
static long long time_on(const char *field, long long nodes)
{
	if (!strchr(field, '='))
		return strtoll(field, NULL, 10);
	for (const char *size = field; size; size = strchr(size, ',')) {
		char *end;
		size += *size == ',';
		if (strtoll(size, &end, 10) == nodes && *end == '=')
			return strtoll(end + 1, NULL, 10);
	}
	return 0;
}

/* count_tasks puts right how many tasks the batch script of a job has whose size may
 * have changed: with --ntasks-per-node, sbatch has put their number into the job's
 * environment at submission, and Slurm leaves it there. */
static void count_tasks(spank_t sp, long long per_node, long long nodes)
{
	uint32_t step = 0;
	spank_get_item(sp, S_JOB_STEPID, &step);
	if (per_node <= 0 || nodes <= 0 || step != SLURM_BATCH_SCRIPT)
		return;
	char value[32];
	snprintf(value, sizeof value, "%lld", per_node * nodes);
	spank_setenv(sp, "SLURM_NTASKS", value, 1);
	spank_setenv(sp, "SLURM_NPROCS", value, 1);
}

/* tell_work tells the work what it has: a job that could have several sizes, at
 * several sites, does not know. VARQ_TIME is the time limit of the work, in
 * seconds. */
static void tell_work(spank_t sp, const char *ticket)
{
	static const char *const known[][2] = {
		{ "SLURM_JOB_NUM_NODES", "VARQ_NODES" },
		{ "SLURM_CLUSTER_NAME", "VARQ_SITE" },
	};
	char value[256];
	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
		if (spank_getenv(sp, known[i][0], value, sizeof value) == ESPANK_SUCCESS)
			spank_setenv(sp, known[i][1], value, 1);
	long long nodes = 0;
	if (spank_getenv(sp, "SLURM_JOB_NUM_NODES", value, sizeof value) == ESPANK_SUCCESS)
		nodes = strtoll(value, NULL, 10);
	const char *second = strchr(ticket, ':');
	const char *third = second ? strchr(second + 1, ':') : NULL;
	if (*ticket == NO_PROMISE && second)
		count_tasks(sp, strtoll(second + 1, NULL, 10), nodes);
	long long seconds = third ? time_on(third + 1, nodes) : 0;
	if (seconds > 0) {
		snprintf(value, sizeof value, "%lld", seconds);
		spank_setenv(sp, "VARQ_TIME", value, 1);
	}
}

/* hold_task runs varq-wrapper if the task must wait. It does not return if the work
 * is cancelled. If anything fails, the task runs at once, unless its job is a member of a
 * group. */
int hold_task(spank_t sp, const char *wrapper, const char *config)
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
	tell_work(sp, ticket);
	if (*ticket == NO_PROMISE)
		return 0;

	uint32_t job = 0, step = 0, task = 0, array = 0, member = 0;
	spank_get_item(sp, S_JOB_ID, &job);
	spank_get_item(sp, S_JOB_STEPID, &step);
	spank_get_item(sp, S_TASK_GLOBAL_ID, &task);
	if (!is_first(step) && time(NULL) >= hold_until(ticket))
		return 0;
	char array_arg[48] = "--array=none";
	if (spank_get_item(sp, S_JOB_ARRAY_ID, &array) == ESPANK_SUCCESS && array &&
	    spank_get_item(sp, S_JOB_ARRAY_TASK_ID, &member) == ESPANK_SUCCESS && member != NO_VAL)
		snprintf(array_arg, sizeof array_arg, "--array=%u_%u", array, member);
	char restarts[16] = "0"; /* the item S_SLURM_RESTART_COUNT is always 0 */
	spank_getenv(sp, "SLURM_RESTART_COUNT", restarts, sizeof restarts);

	char config_arg[4096 + 16];
	snprintf(config_arg, sizeof config_arg, "--config=%s", config ? config : "");
	char job_arg[32], restarts_arg[32], ticket_arg[sizeof "--ticket=" + TICKET_SIZE];
	snprintf(job_arg, sizeof job_arg, "--job=%u", job);
	snprintf(restarts_arg, sizeof restarts_arg, "--restarts=%s", restarts);
	snprintf(ticket_arg, sizeof ticket_arg, "--ticket=%s", ticket);
	const char *lead_arg = is_first(step) && task == 0 ? "--lead" : "--lead=false";
	const char *argv[] = { wrapper, "--hold", ticket_arg, job_arg, restarts_arg, lead_arg, array_arg, config ? config_arg : NULL, NULL };
	enum outcome otherwise = is_member(ticket) ? WORK_IS_CANCELLED : RUN_THE_WORK;
	if (run_wrapper((char *const *)argv, otherwise) == WORK_IS_CANCELLED)
		_exit(EXIT_FAILURE); /* Slurm ignores the return value of an optional plugin */
	return 0;
}
