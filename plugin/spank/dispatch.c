/* The functions that Slurm calls. Each does what is due in the program that has
 * loaded the plugin: sbatch, salloc, srun or slurmstepd. */
#include "varq.h"

SPANK_PLUGIN(varq, 1)

int slurm_spank_init(spank_t sp, int argc, char **argv)
{
	switch (spank_context()) {
	case S_CTX_ALLOCATOR:
	case S_CTX_LOCAL:
		set_helper(argc, argv);
		return start_submission(sp);
	case S_CTX_REMOTE: /* srun passes its options on, so slurmstepd must know them */
		return register_options(sp);
	default:
		return 0;
	}
}

int slurm_spank_init_post_opt(spank_t sp, int argc, char **argv)
{
	(void)argc, (void)argv;
	switch (spank_context()) {
	case S_CTX_ALLOCATOR:
	case S_CTX_LOCAL:
		return finish_submission(sp);
	default:
		return 0;
	}
}

int slurm_spank_task_init(spank_t sp, int argc, char **argv)
{
	return hold_task(sp, wrapper_path(argc, argv), config_path(argc, argv));
}
