/* The options of sbatch, srun and salloc, and the plugin's arguments in
 * plugstack.conf. */
#include "varq.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The program of the helper, in a command that submits. */
static const char *helper = "/usr/bin/varq-filter";

/* take_option is the callback of all options. It opens the box and starts the helper at
 * the first one. It does not check the value: the helper does, as it sees all options
 * together. */
static int take_option(int val, const char *optarg, int remote)
{
	(void)val, (void)optarg;
	if (remote || box_is_open())
		return 0;
	int box = open_box();
	return box < 0 ? -1 : start_helper(helper, box);
}

static struct spank_option options[] = {
	{ .name = "begin-by", .arginfo = "TIME", .has_arg = 1, .cb = take_option,
	  .usage = "reserve: have the work running by TIME" },
	{ .name = "prob", .arginfo = "P", .has_arg = 1, .cb = take_option,
	  .usage = "with this probability, 0.9 or 90%" },
	{ .name = "begin-after", .arginfo = "TIME", .has_arg = 1, .cb = take_option,
	  .usage = "the work may start from TIME on" },
	{ .name = "best-effort", .cb = take_option,
	  .usage = "the work may start as soon as the job does" },
	{ .name = "on-miss", .arginfo = "run|cancel", .has_arg = 1, .cb = take_option,
	  .usage = "if the job starts after --begin-by" },
	{ .name = "finish-by", .arginfo = "TIME", .has_arg = 1, .cb = take_option,
	  .usage = "promise: have the job finished by TIME" },
	{ .name = "risk", .arginfo = "P", .has_arg = 1, .cb = take_option,
	  .usage = "or else by the earliest time that has this probability" },
	{ .name = "checkpoint-interval", .arginfo = "TIME", .has_arg = 1, .cb = take_option,
	  .usage = "after a failure the job goes on from checkpoints TIME apart" },
	{ .name = "risky-nodes", .arginfo = "avoid|allow", .has_arg = 1, .cb = take_option,
	  .usage = "nodes that are likely to fail during the work" },
	{ .name = "sizes", .arginfo = "N:TIME,...", .has_arg = 1, .cb = take_option,
	  .usage = "the job may have any of these nodes and times of its work" },
	{ .name = "size", .arginfo = "auto|cost", .has_arg = 1, .cb = take_option,
	  .usage = "without a promise: the best of --sizes if submitted now" },
	{ .name = "risk-aversion", .arginfo = "SHARE", .has_arg = 1, .cb = take_option,
	  .usage = "wait longer only to save this share of the run time" },
	{ .name = "lock-in", .arginfo = "yes|no", .has_arg = 1, .cb = take_option,
	  .usage = "with no, the size may change as long as the job waits" },
	{ .name = "size-by", .arginfo = "LIST", .has_arg = 1, .cb = take_option,
	  .usage = "of --sizes the best by end,cost,-prob,nodes,..." },
	{ .name = "tasks", .arginfo = "N|N%", .has_arg = 1, .cb = take_option,
	  .usage = "of an array: have this many of its tasks running, not all" },
	{ .name = "accounts", .arginfo = "LIST", .has_arg = 1, .cb = take_option,
	  .usage = "charge one of these accounts, with which a promise costs least" },
	{ .name = "max-cost", .arginfo = "N|Nx", .has_arg = 1, .cb = take_option,
	  .usage = "idle nodes cost at most N node-hours, or N times the quote" },
};

enum { OPTIONS = sizeof options / sizeof options[0] };

int register_options(spank_t sp)
{
	for (int i = 0; i < OPTIONS; i++) {
		spank_err_t err = spank_option_register(sp, &options[i]);
		if (err != ESPANK_SUCCESS) {
			slurm_error("varq: --%s: %s", options[i].name, spank_strerror(err));
			return -1;
		}
	}
	return 0;
}

/* forget_options removes the options from the environment, where Slurm leaves them.
 * Otherwise a job that is submitted from inside this job would have them too. */
void forget_options(spank_t sp)
{
	static const char prefix[] = "SLURM_SPANK_";
	for (int i = 0; i < OPTIONS; i++) {
		char exported[128];
		snprintf(exported, sizeof exported, "%s_SLURM_SPANK_OPTION_varq_%s", prefix, options[i].name);
		for (char *c = exported; *c; c++)
			if (*c == '-')
				*c = '_';
		const char *name = exported + strlen(prefix);
		unsetenv(exported);
		unsetenv(name);
		spank_job_control_unsetenv(sp, name);
	}
}

/* path_argument returns PATH of the plugin's argument KEY=PATH, or the default. */
static const char *path_argument(int argc, char **argv, const char *key, const char *otherwise)
{
	size_t length = strlen(key);
	for (int i = 0; i < argc; i++)
		if (!strncmp(argv[i], key, length) && argv[i][length] == '=')
			return argv[i] + length + 1;
	return otherwise;
}

const char *wrapper_path(int argc, char **argv)
{
	return path_argument(argc, argv, "wrapper", "/usr/bin/varq-wrapper");
}

/* config_path returns the configuration file by which varq-wrapper finds varqd, or NULL
 * for its default. */
const char *config_path(int argc, char **argv)
{
	return path_argument(argc, argv, "config", NULL);
}

/* set_quiet has varq-filter say nothing of a promise, unless the user says otherwise. */
static void set_quiet(int argc, char **argv)
{
	for (int i = 0; i < argc; i++)
		if (!strcmp(argv[i], "quiet"))
			setenv("VARQ_QUIET", "1", 0);
}

void set_helper(int argc, char **argv)
{
	set_quiet(argc, argv);
	char *copy = strdup(path_argument(argc, argv, "filter", helper));
	if (copy)
		helper = copy;
}
